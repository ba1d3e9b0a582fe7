// The tables of PostgreSQL 15's pg_catalog, and those of information_schema that are empty here. A
// column is an integer (#), a boolean (?) or a text.
#include <array>

#include "doors/pg/catalog/tables.h"

namespace baton::pg {

namespace {

constexpr std::array kTables = {
    TableDefinition{"information_schema_check_constraints",
                    "constraint_catalog constraint_schema constraint_name check_clause"},
    TableDefinition{"information_schema_column_privileges",
                    "grantor grantee table_catalog table_schema table_name column_name "
                    "privilege_type is_grantable"},
    TableDefinition{"information_schema_constraint_column_usage",
                    "table_catalog table_schema table_name column_name constraint_catalog "
                    "constraint_schema constraint_name"},
    TableDefinition{"information_schema_domains",
                    "domain_catalog domain_schema domain_name data_type"},
    TableDefinition{"information_schema_key_column_usage",
                    "constraint_catalog constraint_schema constraint_name table_catalog "
                    "table_schema table_name column_name ordinal_position# "
                    "position_in_unique_constraint#"},
    TableDefinition{"information_schema_parameters",
                    "specific_catalog specific_schema specific_name ordinal_position# "
                    "parameter_mode parameter_name data_type"},
    TableDefinition{
        "information_schema_referential_constraints",
        "constraint_catalog constraint_schema constraint_name unique_constraint_catalog "
        "unique_constraint_schema unique_constraint_name match_option update_rule "
        "delete_rule"},
    TableDefinition{"information_schema_role_table_grants",
                    "grantor grantee table_catalog table_schema table_name privilege_type "
                    "is_grantable with_hierarchy"},
    TableDefinition{"information_schema_routines",
                    "specific_catalog specific_schema specific_name routine_catalog routine_schema "
                    "routine_name routine_type data_type routine_definition external_language"},
    TableDefinition{"information_schema_sequences",
                    "sequence_catalog sequence_schema sequence_name data_type start_value "
                    "minimum_value maximum_value increment cycle_option"},
    TableDefinition{"information_schema_table_constraints",
                    "constraint_catalog constraint_schema constraint_name table_catalog "
                    "table_schema table_name constraint_type is_deferrable initially_deferred "
                    "enforced nulls_distinct"},
    TableDefinition{"information_schema_table_privileges",
                    "grantor grantee table_catalog table_schema table_name privilege_type "
                    "is_grantable with_hierarchy"},
    TableDefinition{"information_schema_triggers",
                    "trigger_catalog trigger_schema trigger_name event_manipulation "
                    "event_object_catalog event_object_schema event_object_table action_statement "
                    "action_timing"},
    TableDefinition{"pg_aggregate",
                    "aggfnoid# aggkind aggnumdirectargs# aggtransfn# aggfinalfn# aggcombinefn# "
                    "aggserialfn# aggdeserialfn# aggmtransfn# aggminvtransfn# aggmfinalfn# "
                    "aggfinalextra? aggmfinalextra? aggfinalmodify aggmfinalmodify aggsortop# "
                    "aggtranstype# aggtransspace# aggmtranstype# aggmtransspace# agginitval "
                    "aggminitval"},
    TableDefinition{"pg_am", "oid# amname amhandler# amtype"},
    TableDefinition{"pg_attrdef", "oid# adrelid# adnum# adbin"},
    TableDefinition{"pg_attribute",
                    "attrelid# attname atttypid# attstattarget# attlen# attnum# attndims# "
                    "attcacheoff# atttypmod# attbyval? attalign attstorage attcompression "
                    "attnotnull? atthasdef? atthasmissing? attidentity attgenerated attisdropped? "
                    "attislocal? attinhcount# attcollation# attacl attoptions attfdwoptions "
                    "attmissingval"},
    TableDefinition{"pg_auth_members", "roleid# member# grantor# admin_option?"},
    TableDefinition{"pg_authid",
                    "oid# rolname rolsuper? rolinherit? rolcreaterole? rolcreatedb? rolcanlogin? "
                    "rolreplication? rolbypassrls? rolconnlimit# rolpassword rolvaliduntil"},
    TableDefinition{"pg_available_extensions", "name default_version installed_version comment"},
    TableDefinition{"pg_cast", "oid# castsource# casttarget# castfunc# castcontext castmethod"},
    TableDefinition{
        "pg_class",
        "oid# relname relnamespace# reltype# reloftype# relowner# relam# relfilenode# "
        "reltablespace# relpages# reltuples# relallvisible# reltoastrelid# relhasindex? "
        "relisshared? relpersistence relkind relnatts# relchecks# relhasrules? "
        "relhastriggers? relhassubclass? relrowsecurity? relforcerowsecurity? "
        "relispopulated? relreplident relispartition? relrewrite# relfrozenxid# "
        "relminmxid# relacl reloptions relpartbound"},
    TableDefinition{"pg_collation",
                    "oid# collname collnamespace# collowner# collprovider collisdeterministic? "
                    "collencoding# collcollate collctype colliculocale collversion"},
    TableDefinition{"pg_constraint",
                    "oid# conname connamespace# contype condeferrable? condeferred? convalidated? "
                    "conrelid# contypid# conindid# conparentid# confrelid# confupdtype confdeltype "
                    "confmatchtype conislocal? coninhcount# connoinherit? conkey confkey conpfeqop "
                    "conppeqop conffeqop confdelsetcols conexclop conbin"},
    TableDefinition{"pg_conversion",
                    "oid# conname connamespace# conowner# conforencoding# contoencoding# conproc# "
                    "condefault?"},
    TableDefinition{"pg_cursors",
                    "name statement is_holdable? is_binary? is_scrollable? creation_time"},
    TableDefinition{"pg_database",
                    "oid# datname datdba# encoding# datlocprovider datistemplate? datallowconn? "
                    "datconnlimit# datfrozenxid# datminmxid# dattablespace# datcollate datctype "
                    "daticulocale datcollversion datacl"},
    TableDefinition{"pg_db_role_setting", "setdatabase# setrole# setconfig"},
    TableDefinition{"pg_depend",
                    "classid# objid# objsubid# refclassid# refobjid# refobjsubid# deptype"},
    TableDefinition{"pg_description", "objoid# classoid# objsubid# description"},
    TableDefinition{"pg_enum", "oid# enumtypid# enumsortorder# enumlabel"},
    TableDefinition{"pg_event_trigger",
                    "oid# evtname evtevent evtowner# evtfoid# evtenabled evttags"},
    TableDefinition{"pg_extension",
                    "oid# extname extowner# extnamespace# extrelocatable? extversion extconfig "
                    "extcondition"},
    TableDefinition{"pg_foreign_data_wrapper",
                    "oid# fdwname fdwowner# fdwhandler# fdwvalidator# fdwacl fdwoptions"},
    TableDefinition{"pg_foreign_server",
                    "oid# srvname srvowner# srvfdw# srvtype srvversion srvacl srvoptions"},
    TableDefinition{"pg_foreign_table", "ftrelid# ftserver# ftoptions"},
    TableDefinition{"pg_group", "groname grosysid# grolist"},
    TableDefinition{
        "pg_index",
        "indexrelid# indrelid# indnatts# indnkeyatts# indisunique? indnullsnotdistinct? "
        "indisprimary? indisexclusion? indimmediate? indisclustered? indisvalid? "
        "indcheckxmin? indisready? indislive? indisreplident? indkey indcollation "
        "indclass indoption indexprs indpred"},
    TableDefinition{"pg_indexes", "schemaname tablename indexname tablespace indexdef"},
    TableDefinition{"pg_inherits", "inhrelid# inhparent# inhseqno# inhdetachpending?"},
    TableDefinition{"pg_language",
                    "oid# lanname lanowner# lanispl? lanpltrusted? lanplcallfoid# laninline# "
                    "lanvalidator# lanacl"},
    TableDefinition{"pg_locks",
                    "locktype database# relation# page# tuple# virtualxid transactionid# classid# "
                    "objid# objsubid# virtualtransaction pid# mode granted? fastpath? waitstart"},
    TableDefinition{"pg_matviews",
                    "schemaname matviewname matviewowner tablespace hasindexes? ispopulated? "
                    "definition"},
    TableDefinition{"pg_namespace", "oid# nspname nspowner# nspacl"},
    TableDefinition{"pg_opclass",
                    "oid# opcmethod# opcname opcnamespace# opcowner# opcfamily# opcintype# "
                    "opcdefault? opckeytype#"},
    TableDefinition{
        "pg_operator",
        "oid# oprname oprnamespace# oprowner# oprkind oprcanmerge? oprcanhash? oprleft# "
        "oprright# oprresult# oprcom# oprnegate# oprcode# oprrest# oprjoin#"},
    TableDefinition{"pg_opfamily", "oid# opfmethod# opfname opfnamespace# opfowner#"},
    TableDefinition{"pg_partitioned_table",
                    "partrelid# partstrat partnatts# partdefid# partattrs partclass partcollation "
                    "partexprs"},
    TableDefinition{"pg_policy",
                    "oid# polname polrelid# polcmd polpermissive? polroles polqual polwithcheck"},
    TableDefinition{"pg_prepared_statements",
                    "name statement prepare_time parameter_types from_sql? generic_plans# "
                    "custom_plans#"},
    TableDefinition{"pg_proc",
                    "oid# proname pronamespace# proowner# prolang# procost# prorows# provariadic# "
                    "prosupport# prokind prosecdef? proleakproof? proisstrict? proretset? "
                    "provolatile proparallel pronargs# pronargdefaults# prorettype# proargtypes "
                    "proallargtypes proargmodes proargnames proargdefaults protrftypes prosrc "
                    "probin prosqlbody proconfig proacl"},
    TableDefinition{"pg_publication",
                    "oid# pubname pubowner# puballtables? pubinsert? pubupdate? pubdelete? "
                    "pubtruncate? pubviaroot?"},
    TableDefinition{"pg_publication_namespace", "oid# pnpubid# pnnspid#"},
    TableDefinition{"pg_publication_rel", "oid# prpubid# prrelid# prqual prattrs"},
    TableDefinition{"pg_range",
                    "rngtypid# rngsubtype# rngmultitypid# rngcollation# rngsubopc# rngcanonical# "
                    "rngsubdiff#"},
    TableDefinition{"pg_rewrite",
                    "oid# rulename ev_class# ev_type ev_enabled is_instead? ev_qual ev_action"},
    TableDefinition{"pg_roles",
                    "rolname rolsuper? rolinherit? rolcreaterole? rolcreatedb? rolcanlogin? "
                    "rolreplication? rolconnlimit# rolpassword rolvaliduntil rolbypassrls? "
                    "rolconfig oid#"},
    TableDefinition{"pg_rules", "schemaname tablename rulename definition"},
    TableDefinition{"pg_seclabel", "objoid# classoid# objsubid# provider label"},
    TableDefinition{"pg_sequence",
                    "seqrelid# seqtypid# seqstart# seqincrement# seqmax# seqmin# seqcache# "
                    "seqcycle?"},
    TableDefinition{"pg_sequences",
                    "schemaname sequencename sequenceowner data_type# start_value# min_value# "
                    "max_value# increment_by# cycle? cache_size# last_value#"},
    TableDefinition{"pg_settings",
                    "name setting unit category short_desc extra_desc context vartype source "
                    "min_val max_val enumvals boot_val reset_val sourcefile sourceline# "
                    "pending_restart?"},
    TableDefinition{"pg_shdepend", "dbid# classid# objid# objsubid# refclassid# refobjid# deptype"},
    TableDefinition{"pg_shdescription", "objoid# classoid# description"},
    TableDefinition{"pg_shseclabel", "objoid# classoid# provider label"},
    TableDefinition{
        "pg_stat_activity",
        "datid# datname pid# leader_pid# usesysid# usename application_name client_addr "
        "client_hostname client_port# backend_start xact_start query_start state_change "
        "wait_event_type wait_event state backend_xid# backend_xmin# query_id# query "
        "backend_type"},
    TableDefinition{"pg_stat_user_tables",
                    "relid# schemaname relname seq_scan# seq_tup_read# idx_scan# idx_tup_fetch# "
                    "n_tup_ins# n_tup_upd# n_tup_del# n_tup_hot_upd# n_live_tup# n_dead_tup# "
                    "n_mod_since_analyze# n_ins_since_vacuum# last_vacuum last_autovacuum "
                    "last_analyze last_autoanalyze vacuum_count# autovacuum_count# analyze_count# "
                    "autoanalyze_count#"},
    TableDefinition{"pg_statistic_ext",
                    "oid# stxrelid# stxname stxnamespace# stxowner# stxstattarget# stxkeys stxkind "
                    "stxexprs"},
    TableDefinition{"pg_subscription",
                    "oid# subdbid# subskiplsn subname subowner# subenabled? subbinary? substream? "
                    "subtwophasestate subdisableonerr? subconninfo subslotname subsynccommit "
                    "subpublications"},
    TableDefinition{"pg_tables",
                    "schemaname tablename tableowner tablespace hasindexes? hasrules? hastriggers? "
                    "rowsecurity?"},
    TableDefinition{"pg_tablespace", "oid# spcname spcowner# spcacl spcoptions"},
    TableDefinition{"pg_trigger",
                    "oid# tgrelid# tgparentid# tgname tgfoid# tgtype# tgenabled tgisinternal? "
                    "tgconstrrelid# tgconstrindid# tgconstraint# tgdeferrable? tginitdeferred? "
                    "tgnargs# tgattr tgargs tgqual tgoldtable tgnewtable"},
    TableDefinition{"pg_ts_config", "oid# cfgname cfgnamespace# cfgowner# cfgparser#"},
    TableDefinition{"pg_ts_dict",
                    "oid# dictname dictnamespace# dictowner# dicttemplate# dictinitoption"},
    TableDefinition{"pg_ts_parser",
                    "oid# prsname prsnamespace# prsstart# prstoken# prsend# prsheadline# "
                    "prslextype#"},
    TableDefinition{"pg_ts_template", "oid# tmplname tmplnamespace# tmplinit# tmpllexize#"},
    TableDefinition{"pg_type",
                    "oid# typname typnamespace# typowner# typlen# typbyval? typtype typcategory "
                    "typispreferred? typisdefined? typdelim typrelid# typsubscript typelem# "
                    "typarray# typinput typoutput typreceive typsend typmodin typmodout typanalyze "
                    "typalign typstorage typnotnull? typbasetype# typtypmod# typndims# "
                    "typcollation# typdefaultbin typdefault typacl"},
    TableDefinition{"pg_user",
                    "usename usesysid# usecreatedb? usesuper? userepl? usebypassrls? passwd "
                    "valuntil useconfig"},
    TableDefinition{"pg_user_mapping", "oid# umuser# umserver# umoptions"},
    TableDefinition{"pg_views", "schemaname viewname viewowner definition"},
};

}  // namespace

std::span<const TableDefinition> table_definitions() {
    return kTables;
}

}  // namespace baton::pg
