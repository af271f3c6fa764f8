-- Accepted queries by construct, each compared with DuckDB's own answer on clean data.
-- `-- == schema: construct` opens a section; `-- mark: …` before a query says what a test has to know.

-- == clinic: select

SELECT count(*) AS n, count(*) AS again, count(*) + 1 AS more FROM patients;
SELECT 2 AS two, 'x' AS text, count(*) AS n FROM visits;
SELECT NULL AS nothing, TRUE AS yes, count(*) FROM patients;
SELECT sum(cost) / count(*) AS ratio, avg(cost) - 1 AS less FROM visits;
SELECT sum(age) AS total, avg(age) AS mean, count(age) AS known, count(*) AS n FROM patients;
SELECT round(avg(weight)) AS mean, floor(sum(age) / 10) AS tens FROM patients;
SELECT CAST(count(*) AS VARCHAR) || ' patients' AS text FROM patients;
SELECT CASE WHEN count(*) > 10 THEN 'many' ELSE 'few' END AS size FROM patients;
SELECT count(*) n, sum(cost) "Total Cost" FROM visits AS v;
SELECT Count(*), SUM(Cost) AS s FROM VISITS;
SELECT sum(1) AS ones, sum(2) AS twos, sum(1.5) AS halves FROM visits;
SELECT count(1), count('x'), count(NULL) AS none FROM visits;
SELECT -sum(cost) AS minus, +count(*) AS plus, count(*) % 7 AS modulo, count(*) // 7 AS whole FROM visits;
SELECT sum(cost) > 1000 AS big, count(*) BETWEEN 1 AND 10000 AS sane FROM visits;

-- == clinic: where

SELECT count(*) FROM patients WHERE age > 30 AND age < 80;
SELECT count(*) FROM patients WHERE age > 30 OR sex = 'F';
SELECT count(*) FROM patients WHERE NOT (age > 30 OR sex = 'F');
SELECT count(*) FROM patients WHERE age NOT BETWEEN 20 AND 60;
SELECT count(*) FROM patients WHERE sex IN ('F') AND city NOT IN ('Rome', 'Paris');
SELECT count(*) FROM patients WHERE city IN ('Rome', NULL);
SELECT count(*) FROM patients WHERE insured;
SELECT count(*) FROM patients WHERE NOT insured;
SELECT count(*) FROM patients WHERE insured IS NOT TRUE;
SELECT count(*) FROM patients WHERE insured IS FALSE OR insured IS NULL;
SELECT count(*) FROM patients WHERE weight IS NULL AND age IS NOT NULL;
SELECT count(*) FROM patients WHERE city LIKE 'R%' OR city LIKE '_aris';
SELECT count(*) FROM patients WHERE city ILIKE '%O%' AND city NOT LIKE '%x%';
SELECT count(*) FROM patients WHERE city SIMILAR TO '(Rome|Oslo)';
SELECT count(*) FROM patients WHERE city > 'Oslo' AND city <= 'Rome';
SELECT count(*) FROM patients WHERE sex = 'F' AND sex = 'M';
SELECT count(*) FROM patients WHERE sex IS DISTINCT FROM 'F';
SELECT count(*) FROM patients WHERE sex IS NOT DISTINCT FROM NULL;
SELECT count(*) FROM patients WHERE age + 1 > weight / 2;
SELECT count(*) FROM patients WHERE age % 2 = 0 AND age // 10 = 4;
SELECT count(*) FROM visits WHERE visit_date >= '2024-06-01' AND visit_date < DATE '2024-07-01';
SELECT count(*) FROM visits WHERE visit_date + INTERVAL 1 MONTH > DATE '2024-12-01';
SELECT count(*) FROM visits WHERE visit_date BETWEEN DATE '2024-01-01' AND DATE '2024-01-01' + INTERVAL '90' DAY;
SELECT count(*) FROM visits WHERE extract(year FROM visit_date) = 2024 AND month(visit_date) IN (1, 2, 3);
SELECT count(*) FROM visits WHERE cost = 1 OR (ward = 'ER' AND (cost > 10 OR cost IS NULL));
SELECT count(*) FROM visits WHERE (cost > 500) = (ward = 'ER');
SELECT sum(cost) FROM visits WHERE ward = 'ICU' AND cost >= 100.5;
SELECT count(*) FROM visits WHERE TRUE;
SELECT count(*) AS n, sum(cost) AS s FROM visits WHERE CASE WHEN ward = 'ER' THEN cost > 100 ELSE cost > 900 END;
SELECT count(*) FROM readings WHERE value > 0 AND sensor <> 2;

-- == clinic: expressions

SELECT sum(cost * 2 + 1) AS a, sum(cost - 10) AS b, sum(-cost) AS c FROM visits;
SELECT sum(cost * score) AS product, sum(cost * cost) AS square FROM visits JOIN tests USING (visit_id);
SELECT sum(age / 2) AS halves, sum(age // 2) AS whole, sum(age % 7) AS rest FROM patients;
SELECT sum(weight / 3) AS thirds, avg(weight * 2.5) AS more FROM patients;
SELECT sum(abs(score)) AS a, sum(sign(score)) AS b, sum(score * score) AS c FROM tests;
SELECT avg(round(weight, 1)) AS a, sum(floor(weight)) AS b, sum(ceil(weight)) AS c, sum(trunc(weight)) AS d FROM patients;
SELECT sum(sqrt(age)) AS roots, sum(ln(age + 1)) AS logs FROM patients;
SELECT avg(power(age, 2)) AS squares, sum(exp(age / 100)) AS e FROM patients;
SELECT sum(least(length(city), 20)) AS letters, count(*) FILTER (WHERE strlen(city) > 4) AS long FROM patients;
SELECT sum(least(age, 50)) AS a, sum(greatest(age, 20)) AS b FROM patients;
SELECT sum(coalesce(age, 0)) AS a, sum(coalesce(weight, 70.0)) AS b FROM patients;
SELECT sum(nullif(score, 1)) AS a, count(nullif(kind, 'scan')) AS b FROM tests;
SELECT sum(CAST(cost AS INTEGER)) AS a, sum(CAST(age AS DOUBLE)) AS b FROM visits JOIN patients USING (patient_id);
SELECT count(TRY_CAST(city AS INTEGER)) AS none FROM patients;
SELECT sum(IF(insured, age, 0)) AS a, sum(CASE sex WHEN 'F' THEN 1 WHEN 'M' THEN 2 ELSE 3 END) AS b FROM patients;
SELECT sum(CASE WHEN age < 18 THEN 1 WHEN age < 65 THEN 2 END) AS a FROM patients;
SELECT sum(date_diff('day', DATE '2024-01-01', visit_date)) AS days FROM visits;
SELECT sum(extract(day FROM visit_date)) AS d, sum(dayofweek(visit_date)) AS w, sum(year(visit_date)) AS y FROM visits;
SELECT sum(CAST(insured AS INTEGER)) AS a, count(*) FILTER (WHERE insured) AS b FROM patients;
SELECT sum(CASE WHEN city LIKE 'R%' THEN age ELSE -age END) AS balance FROM patients;
SELECT sum(age * 1.1) AS a, sum(age * 0.5 + 3) AS b, avg(age - 60) AS c FROM patients;
SELECT sum(value * value) AS energy, avg(abs(value)) AS size FROM readings;

-- == clinic: aggregates

SELECT count(DISTINCT patient_id) FROM visits;
SELECT count(DISTINCT patient_id) AS patients, count(*) AS visits FROM visits WHERE ward = 'ER';
SELECT count(DISTINCT v.patient_id) AS n FROM visits v JOIN tests t ON v.visit_id = t.visit_id WHERE score > 0;
SELECT count(*) FILTER (WHERE age > 50) AS old, count(*) FILTER (WHERE age <= 50) AS young FROM patients;
SELECT sum(cost) FILTER (WHERE ward = 'ER') AS er, avg(cost) FILTER (WHERE ward = 'ICU') AS icu FROM visits;
SELECT count(*) FILTER (WHERE ward = 'ER') * 100.0 / count(*) AS percent FROM visits;
SELECT ward, sum(cost) FILTER (WHERE cost > 100) AS s, count(cost) FILTER (WHERE cost > 100) AS n FROM visits GROUP BY ward;
SELECT sum(cost) AS a, sum(cost) AS b, avg(cost) AS c, sum(cost) / count(cost) AS d FROM visits;
SELECT avg(score) AS a, avg(score) FILTER (WHERE kind = 'scan') AS b FROM tests;
SELECT ward, count(DISTINCT patient_id) AS p, count(*) AS v, sum(cost) AS s FROM visits GROUP BY ward;
SELECT avg(CASE WHEN insured THEN 1.0 ELSE 0.0 END) AS share FROM patients;
SELECT sum(weight) AS w, count(weight) AS n, avg(weight) AS m FROM patients WHERE sex = 'F';
SELECT count(visit_date) AS d, count(ward) AS w, count(cost) AS c, count(doctor_id) AS x FROM visits;

-- == clinic: group by

SELECT sex, count(*) FROM patients GROUP BY sex;
SELECT sex AS s, count(*) AS n FROM patients GROUP BY s ORDER BY s;
SELECT count(*) AS n, sex FROM patients GROUP BY 2 ORDER BY 2 DESC NULLS LAST;
SELECT sex, insured, count(*), avg(age) FROM patients GROUP BY ALL;
SELECT insured, sum(age) AS total FROM patients GROUP BY insured HAVING count(*) > 3;
SELECT ward, sum(cost) AS total, avg(cost) AS mean, count(*) AS n FROM visits GROUP BY ward;
SELECT doctor_id, count(*) AS n FROM visits GROUP BY doctor_id;
SELECT month(visit_date) AS m, count(*) AS n FROM visits GROUP BY m;
SELECT date_trunc('month', visit_date) AS m, sum(cost) AS s FROM visits GROUP BY 1;
SELECT date_trunc('quarter', visit_date) AS q, ward, count(*) AS n FROM visits GROUP BY q, ward;
SELECT extract(quarter FROM visit_date) AS q, count(*) AS n FROM visits GROUP BY ALL;
SELECT visit_date, count(*) AS n FROM visits GROUP BY visit_date;
SELECT date_trunc('week', visit_date) AS w, count(*) AS n FROM visits GROUP BY w;
SELECT dayofweek(visit_date) AS d, count(*) AS n FROM visits GROUP BY d;
SELECT age // 10 AS decade, count(*) AS n FROM patients GROUP BY decade;
SELECT age, count(*) AS n FROM patients GROUP BY age;
SELECT age >= 65 AS old, count(*) AS n, avg(weight) AS w FROM patients GROUP BY old;
SELECT age > 40 AND insured AS grown, count(*) AS n FROM patients GROUP BY grown;
SELECT CASE WHEN age < 18 THEN 'child' WHEN age < 65 THEN 'adult' ELSE 'old' END AS band, sex, count(*) AS n FROM patients GROUP BY band, sex;
SELECT CASE WHEN ward IN ('ER', 'ICU') THEN 'acute' ELSE ward END AS kind, sum(cost) AS s FROM visits GROUP BY 1;
SELECT coalesce(ward, 'none') AS w, count(*) AS n FROM visits GROUP BY w;
SELECT lower(ward) AS w, count(*) AS n FROM visits GROUP BY w;
SELECT ward = 'ER' AS er, count(*) AS n FROM visits GROUP BY er;
SELECT city, count(*) AS n FROM patients GROUP BY city;
SELECT city, sex, avg(age) AS a FROM patients GROUP BY city, sex;
SELECT upper(city) AS c, count(*) AS n FROM patients WHERE city IS NOT NULL GROUP BY c;
SELECT substring(city, 1, 1) AS letter, count(*) AS n FROM patients GROUP BY letter;
SELECT city, count(*) AS n FROM patients WHERE city IN ('Rome', 'Oslo') GROUP BY city;
SELECT score, count(*) AS n FROM tests GROUP BY score;
SELECT score, kind, count(*) AS n FROM tests WHERE score BETWEEN -1 AND 1 GROUP BY score, kind;
SELECT abs(score) AS size, count(*) AS n FROM tests GROUP BY size;
-- mark: nothing
SELECT score > 0 AS good, kind, sum(score) AS s FROM tests GROUP BY ALL;
SELECT ward, kind, count(*) AS n, sum(score) AS s FROM visits JOIN tests USING (visit_id) GROUP BY ward, kind;
SELECT sensor, count(*) AS n, sum(value) AS s FROM readings GROUP BY sensor;
SELECT sensor % 2 AS side, avg(value) AS a FROM readings GROUP BY side;
SELECT ward FROM visits GROUP BY ward;
SELECT sex, insured FROM patients GROUP BY sex, insured;
SELECT visits.ward, count(*) FROM visits GROUP BY visits.ward;
SELECT 'all' AS label, count(*) AS n FROM visits GROUP BY label;
SELECT sex, count(*) AS n FROM patients GROUP BY sex, 1;

-- == clinic: having, order, limit, qualify

SELECT ward, count(*) AS n FROM visits GROUP BY ward HAVING n > 20;
SELECT ward, sum(cost) AS s FROM visits GROUP BY ward HAVING sum(cost) / count(*) > 400 AND count(*) > 3;
SELECT city, count(*) AS n FROM patients GROUP BY city HAVING count(*) BETWEEN 2 AND 100 ORDER BY city;
SELECT ward, count(*) AS n FROM visits GROUP BY ward HAVING ward IS NOT NULL ORDER BY n DESC, ward;
SELECT count(*) AS n FROM visits HAVING count(*) > 0;
SELECT count(*) AS n FROM visits HAVING count(*) > 100000;
SELECT doctor_id, avg(cost) AS a FROM visits GROUP BY doctor_id ORDER BY avg(cost) DESC, 1 LIMIT 2;
SELECT doctor_id, count(*) AS n FROM visits GROUP BY doctor_id ORDER BY doctor_id NULLS FIRST LIMIT 3 OFFSET 1;
SELECT ward, count(*) AS n FROM visits GROUP BY ward ORDER BY count(*) * -1, ward DESC;
SELECT ward, sex, count(*) AS n FROM visits JOIN patients USING (patient_id) GROUP BY ward, sex ORDER BY ward ASC NULLS FIRST, sex DESC NULLS LAST;
SELECT ward, count(*) AS n FROM visits GROUP BY ward QUALIFY rank() OVER (ORDER BY count(*) DESC, ward) = 1;
SELECT ward, kind, count(*) AS n FROM visits JOIN tests USING (visit_id) GROUP BY ward, kind QUALIFY row_number() OVER (PARTITION BY ward ORDER BY count(*) DESC, kind) = 1;
SELECT sex, count(*) AS n FROM patients GROUP BY sex LIMIT 100;

-- == clinic: joins

SELECT count(*) FROM visits, patients WHERE visits.patient_id = patients.patient_id;
SELECT p.sex, v.ward, count(*) AS n FROM patients p JOIN visits v ON p.patient_id = v.patient_id GROUP BY p.sex, v.ward;
SELECT sum(v.cost + p.age) AS s FROM patients p INNER JOIN visits v USING (patient_id);
SELECT count(*) AS n, sum(score) AS s FROM patients JOIN visits USING (patient_id) JOIN tests USING (visit_id) WHERE insured;
SELECT specialty, sum(cost) AS s FROM visits JOIN doctors USING (doctor_id) GROUP BY specialty;
SELECT region_name, count(*) AS n FROM visits v JOIN doctors d ON v.doctor_id = d.doctor_id JOIN regions r ON d.region_id = r.region_id GROUP BY region_name;
SELECT d.doctor_id, d.specialty, r.region_name, count(*) AS n FROM visits v, doctors d, regions r WHERE v.doctor_id = d.doctor_id AND d.region_id = r.region_id GROUP BY ALL;
SELECT count(*) FROM visits v JOIN doctors d ON v.doctor_id = d.doctor_id AND d.specialty = 'surgery' WHERE v.cost > 100;
SELECT count(*) AS n, sum(a.cost - b.cost) AS s FROM visits a JOIN visits b USING (patient_id) WHERE a.visit_id < b.visit_id;
SELECT count(*) AS n FROM patients a, patients b WHERE a.patient_id = b.patient_id AND a.age = b.age;
SELECT count(*) AS n, sum(age) AS s FROM patients JOIN doctors ON patients.age % 4 = doctors.doctor_id;
SELECT count(*) AS n FROM patients CROSS JOIN doctors;
SELECT specialty, count(*) AS n FROM patients, doctors WHERE age BETWEEN doctor_id * 10 AND doctor_id * 20 GROUP BY specialty;
SELECT count(*) AS n, count(v.visit_id) AS visits FROM patients p LEFT JOIN visits v ON p.patient_id = v.patient_id;
SELECT sex, count(*) AS n, count(v.visit_id) AS visits, sum(v.cost) AS s FROM patients p LEFT JOIN visits v USING (patient_id) GROUP BY sex;
SELECT count(*) FROM patients p LEFT JOIN visits v USING (patient_id) WHERE v.visit_id IS NULL;
SELECT count(*) AS n FROM visits v LEFT JOIN tests t ON v.visit_id = t.visit_id AND t.score > 0 WHERE t.test_id IS NULL;
SELECT count(*) AS n, count(specialty) AS known FROM visits LEFT JOIN doctors USING (doctor_id);
SELECT specialty, count(*) AS n, sum(cost) AS s FROM visits LEFT JOIN doctors USING (doctor_id) GROUP BY specialty;
SELECT region_name, count(*) AS n FROM visits LEFT JOIN doctors USING (doctor_id) LEFT JOIN regions USING (region_id) GROUP BY region_name;
SELECT count(*) AS n, sum(cost) AS s FROM visits RIGHT JOIN patients USING (patient_id);
SELECT count(*) AS n, count(p.age) AS a, count(v.cost) AS c FROM patients p FULL OUTER JOIN visits v ON p.patient_id = v.patient_id;
SELECT ward, count(kind) AS n FROM visits v LEFT JOIN tests t ON t.visit_id = v.visit_id GROUP BY ward;
SELECT count(*) FROM (SELECT * FROM patients WHERE age > 20) p JOIN (SELECT * FROM visits WHERE cost > 10) v ON p.patient_id = v.patient_id;

-- == clinic: outer joins that keep public rows

-- mark: keeps nothing
SELECT d.specialty, count(v.visit_id) AS n, sum(v.cost) AS s, avg(v.cost) AS m FROM doctors d LEFT JOIN visits v ON v.doctor_id = d.doctor_id GROUP BY d.specialty;
-- mark: keeps nothing
SELECT d.doctor_id, count(v.visit_id) AS n, sum(v.cost) AS s, avg(v.cost) AS m FROM visits v RIGHT JOIN doctors d ON v.doctor_id = d.doctor_id AND v.cost > 950 GROUP BY d.doctor_id;
-- mark: keeps
SELECT d.doctor_id, count(v.visit_id) AS n, sum(CASE WHEN v.ward = 'ER' THEN 1 ELSE 0 END) AS er, sum(coalesce(v.cost, 0)) AS s FROM doctors d LEFT JOIN visits v ON v.doctor_id = d.doctor_id AND d.region_id = 1 GROUP BY d.doctor_id;
-- mark: keeps
SELECT d.specialty, count(v.visit_id) AS n, count(t.test_id) AS tests, count(DISTINCT v.patient_id) AS people FROM doctors d LEFT JOIN visits v USING (doctor_id) LEFT JOIN tests t ON t.visit_id = v.visit_id GROUP BY d.specialty;
-- mark: keeps
SELECT r.region_name, d.specialty, count(v.visit_id) AS n FROM regions r LEFT JOIN doctors d ON d.region_id = r.region_id LEFT JOIN visits v ON v.doctor_id = d.doctor_id AND v.ward = 'ICU' AND r.region_name = 'north' GROUP BY r.region_name, d.specialty;
-- mark: keeps
SELECT d.specialty, r.region_name, count(v.visit_id) AS n FROM doctors d LEFT JOIN visits v ON v.doctor_id = d.doctor_id LEFT JOIN regions r ON r.region_id = d.region_id GROUP BY ALL;
-- mark: keeps
SELECT d.specialty, count(v.visit_id) AS n FROM doctors d LEFT JOIN visits v ON v.doctor_id = d.doctor_id AND v.cost > 990 JOIN regions r ON r.region_id = d.region_id WHERE r.region_name IN ('north', 'south') AND d.doctor_id <> 2 GROUP BY d.specialty HAVING count(v.visit_id) < 50 ORDER BY n DESC, d.specialty;
-- mark: keeps
SELECT t.specialty, count(t.visit_id) AS n, sum(t.twice) AS s FROM (SELECT d.specialty, v.visit_id, coalesce(v.cost * 2, 0) AS twice FROM (SELECT * FROM doctors WHERE region_id IS NOT NULL) d LEFT JOIN (SELECT * FROM visits WHERE ward = 'GP' AND cost > 900) v ON v.doctor_id = d.doctor_id) t GROUP BY t.specialty;
-- mark: keeps
SELECT m.m, count(v.visit_id) AS n FROM (SELECT doctor_id AS m FROM doctors UNION ALL SELECT doctor_id + 12 FROM doctors) m LEFT JOIN visits v ON month(v.visit_date) = m.m GROUP BY m.m ORDER BY m.m;
-- mark: keeps
SELECT m.day, count(v.visit_id) AS n FROM (SELECT DATE '2024-03-01' + CAST(doctor_id AS INTEGER) AS day FROM doctors) m LEFT JOIN visits v ON v.visit_date <= m.day GROUP BY m.day;
-- mark: keeps
SELECT r.region_name, count(t.visit_id) AS n FROM regions r LEFT JOIN (SELECT d.region_id, v.visit_id FROM doctors d LEFT JOIN visits v ON v.doctor_id = d.doctor_id AND v.cost > 999) t ON t.region_id = r.region_id GROUP BY r.region_name;
-- mark: keeps nothing
SELECT upper(d.specialty) AS s, d.region_id IS NULL AS nowhere, count(p.age) AS n, sum(CASE WHEN d.region_id = 1 THEN v.cost END) AS x FROM doctors d LEFT JOIN visits v ON v.doctor_id = d.doctor_id AND v.ward = 'ER' LEFT JOIN patients p ON p.patient_id = v.patient_id AND p.sex = 'F' GROUP BY 1, 2;
-- mark: keeps
SELECT d.specialty, count(v.visit_id) AS n FROM doctors d LEFT JOIN visits v ON v.doctor_id = d.doctor_id AND v.cost > 990 GROUP BY ROLLUP (d.specialty);
-- mark: keeps
SELECT DISTINCT d.specialty FROM doctors d LEFT JOIN visits v ON v.doctor_id = d.doctor_id AND v.cost > 999;
SELECT count(v.visit_id) AS n, count(*) FILTER (WHERE v.cost > 500) AS dear, max(v.cost) > 0 AS any FROM doctors d LEFT JOIN visits v ON v.doctor_id = d.doctor_id AND d.specialty <> 'eye';
SELECT v.ward, count(*) AS n FROM doctors d LEFT JOIN visits v ON v.doctor_id = d.doctor_id WHERE v.cost > 100 GROUP BY v.ward;
SELECT p.sex, d.specialty, count(*) AS n FROM doctors d LEFT JOIN visits v ON v.doctor_id = d.doctor_id JOIN patients p ON p.patient_id = v.patient_id GROUP BY p.sex, d.specialty;
SELECT d.specialty, count(*) AS n FROM doctors d LEFT JOIN visits v ON v.doctor_id = d.doctor_id WHERE EXISTS (SELECT 1 FROM tests t WHERE t.visit_id = v.visit_id) GROUP BY d.specialty;

-- == clinic: ctes and derived tables

WITH er AS (SELECT * FROM visits WHERE ward = 'ER') SELECT count(*), sum(cost) AS s FROM er;
WITH a AS (SELECT patient_id, age FROM patients), b AS (SELECT * FROM a WHERE age > 40) SELECT count(*) AS n, avg(age) AS m FROM b;
WITH a (id, years) AS (SELECT patient_id, age FROM patients) SELECT sum(years) AS s FROM a JOIN visits ON id = patient_id;
WITH n AS (SELECT ward, count(*) AS n FROM visits GROUP BY ward) SELECT sum(n) AS total, max(n) AS most, min(n) AS least FROM n;
WITH n AS (SELECT ward, count(*) AS n FROM visits GROUP BY ward) SELECT x.ward, x.n - y.n AS gap FROM n x, n y WHERE y.ward = 'ER' ORDER BY x.ward;
WITH n AS (SELECT ward, count(*) AS n FROM visits GROUP BY ward) SELECT ward FROM n WHERE n > (SELECT avg(n) FROM n);
WITH t AS (SELECT ward, sum(cost) AS s FROM visits GROUP BY ward), u AS (SELECT sum(s) AS all_of_it FROM t) SELECT ward, s / all_of_it AS share FROM t, u;
WITH x AS MATERIALIZED (SELECT sex FROM patients) SELECT sex, count(*) AS n FROM x GROUP BY sex;
WITH a AS (WITH b AS (SELECT ward, cost FROM visits) SELECT ward FROM b WHERE cost > 10) SELECT ward, count(*) AS n FROM a GROUP BY ward;
SELECT * FROM (SELECT ward, count(*) AS n FROM visits GROUP BY ward) t;
SELECT t.n * 2 AS twice FROM (SELECT count(*) AS n FROM patients) t;
SELECT w, sum(c) AS s FROM (SELECT ward AS w, cost AS c FROM visits WHERE cost > 5) AS x GROUP BY w;
SELECT a, b FROM (SELECT ward, count(*) FROM visits GROUP BY ward) AS t (a, b) WHERE b > 2;
SELECT avg(n) AS mean FROM (SELECT n FROM (SELECT ward, count(*) AS n FROM visits GROUP BY ward) x WHERE n > 1) y;
SELECT band, count(*) AS n FROM (SELECT CASE WHEN old THEN 'old' ELSE 'young' END AS band FROM (SELECT age > 60 AS old FROM patients) a) b GROUP BY band;
FROM visits SELECT ward, count(*) AS n GROUP BY ward;
SELECT d.specialty, t.n FROM (SELECT doctor_id, count(*) AS n FROM visits GROUP BY doctor_id) t JOIN doctors d USING (doctor_id);
SELECT d.specialty, sum(t.s) AS s FROM (SELECT doctor_id, sum(cost) AS s FROM visits GROUP BY doctor_id) t JOIN doctors d ON t.doctor_id = d.doctor_id GROUP BY d.specialty;
SELECT d.specialty, coalesce(t.n, 0) AS n FROM doctors d LEFT JOIN (SELECT doctor_id, count(*) AS n FROM visits GROUP BY doctor_id) t USING (doctor_id);
SELECT x.specialty, y.region_id, t.n FROM (SELECT doctor_id, count(*) AS n FROM visits GROUP BY doctor_id) t JOIN doctors x ON t.doctor_id = x.doctor_id JOIN doctors y ON t.doctor_id = y.doctor_id;
SELECT a.ward, a.n, b.m FROM (SELECT ward, count(*) AS n FROM visits GROUP BY ward) a JOIN (SELECT ward, avg(cost) AS m FROM visits GROUP BY ward) b ON a.ward = b.ward;

-- == clinic: aggregates per unit

SELECT avg(m) FROM (SELECT patient_id, percentile_disc(0.5) WITHIN GROUP (ORDER BY cost DESC) AS m FROM visits GROUP BY patient_id) t;
SELECT n, count(*) AS patients FROM (SELECT patient_id, count(*) AS n FROM visits GROUP BY patient_id) t GROUP BY n;
SELECT avg(n) AS mean, sum(n) AS total FROM (SELECT patient_id, count(*) AS n FROM visits GROUP BY patient_id) t;
SELECT avg(s) AS mean FROM (SELECT patient_id, sum(cost) AS s FROM visits GROUP BY patient_id) t WHERE s > 100;
SELECT count(*) FROM (SELECT patient_id FROM visits GROUP BY patient_id HAVING count(*) > 1) t;
SELECT count(*) AS n, avg(top) AS mean FROM (SELECT patient_id, max(cost) AS top, min(cost) AS low FROM visits GROUP BY patient_id) t WHERE low < top;
SELECT sex, avg(n) AS visits FROM (SELECT p.patient_id, p.sex, count(v.visit_id) AS n FROM patients p LEFT JOIN visits v ON v.patient_id = p.patient_id GROUP BY p.patient_id, p.sex) t GROUP BY sex;
SELECT n > 1 AS many, count(*) AS c FROM (SELECT patient_id, count(*) AS n FROM visits GROUP BY 1) t GROUP BY 1;
SELECT wards, count(*) AS n FROM (SELECT patient_id, count(DISTINCT ward) AS wards FROM visits GROUP BY patient_id) t GROUP BY wards;
SELECT sum(s) AS s FROM (SELECT patient_id, ward, sum(cost) AS s FROM visits GROUP BY patient_id, ward) t WHERE ward = 'ER';
SELECT ward, avg(s) AS s FROM (SELECT patient_id, ward, sum(cost) AS s FROM visits GROUP BY patient_id, ward) t GROUP BY ward;
SELECT avg(m) AS m FROM (SELECT visit_id, avg(score) AS m FROM tests GROUP BY visit_id) t;
SELECT kinds, count(*) AS n FROM (SELECT visit_id, count(DISTINCT kind) AS kinds FROM tests GROUP BY visit_id) t GROUP BY kinds;
SELECT first_month, count(*) AS n FROM (SELECT patient_id, min(month(visit_date)) AS first_month FROM visits GROUP BY patient_id) t GROUP BY first_month;
SELECT count(*) FROM (SELECT patient_id, avg(cost) AS a FROM visits GROUP BY patient_id) t JOIN patients p ON t.patient_id = p.patient_id WHERE t.a > p.age;
SELECT sum(most) AS s FROM (SELECT patient_id, max(n) AS most FROM (SELECT patient_id, ward, count(*) AS n FROM visits GROUP BY patient_id, ward) x GROUP BY patient_id) y;
SELECT count(*) FILTER (WHERE er > 0) AS some, count(*) AS n FROM (SELECT patient_id, count(*) FILTER (WHERE ward = 'ER') AS er FROM visits GROUP BY patient_id) t;

-- == clinic: in and exists

SELECT count(*) FROM patients WHERE patient_id IN (SELECT patient_id FROM visits);
SELECT count(*) FROM patients WHERE patient_id IN (SELECT patient_id FROM visits WHERE ward = 'ER') AND age > 20;
SELECT count(*) FROM patients WHERE patient_id NOT IN (SELECT patient_id FROM visits WHERE cost > 500);
SELECT sex, count(*) AS n FROM patients p WHERE EXISTS (SELECT * FROM visits v WHERE v.patient_id = p.patient_id AND ward = 'ICU') GROUP BY sex;
SELECT count(*) FROM patients p WHERE NOT EXISTS (SELECT 1 FROM visits v WHERE v.patient_id = p.patient_id);
SELECT count(*) FROM visits v WHERE EXISTS (SELECT 1 FROM tests t WHERE t.visit_id = v.visit_id AND t.score > 0);
SELECT ward, count(*) AS n FROM visits a WHERE EXISTS (SELECT 1 FROM visits b WHERE b.patient_id = a.patient_id AND b.visit_id <> a.visit_id AND b.ward <> a.ward) GROUP BY ward;
SELECT count(*) FROM visits WHERE doctor_id IN (SELECT doctor_id FROM doctors WHERE specialty = 'surgery');
SELECT count(*) FROM visits WHERE doctor_id NOT IN (SELECT doctor_id FROM doctors WHERE region_id = 1);
SELECT count(*) FROM visits v WHERE EXISTS (SELECT 1 FROM doctors d WHERE d.doctor_id = v.doctor_id AND d.specialty = 'eye');
SELECT count(*) FROM visits WHERE ward IN (SELECT ward FROM visits GROUP BY ward ORDER BY count(*) DESC, ward LIMIT 1);
SELECT count(*) FROM visits WHERE ward NOT IN (SELECT ward FROM visits WHERE ward IS NOT NULL GROUP BY ward HAVING avg(cost) > 500);
SELECT count(*) AS n FROM patients p WHERE age > 50 AND (insured OR EXISTS (SELECT 1 FROM visits v WHERE v.patient_id = p.patient_id AND v.cost > 900));
SELECT count(*) FILTER (WHERE found) AS n FROM (SELECT patient_id IN (SELECT patient_id FROM visits WHERE ward = 'ER') AS found FROM patients) t;
SELECT count(*) FROM patients WHERE patient_id IN (SELECT v.patient_id FROM visits v JOIN tests t ON v.visit_id = t.visit_id WHERE t.score = 5);
SELECT specialty FROM doctors WHERE doctor_id IN (SELECT doctor_id FROM visits GROUP BY doctor_id HAVING count(*) > 5) ORDER BY doctor_id;
SELECT doctor_id FROM doctors d WHERE EXISTS (SELECT 1 FROM visits v WHERE v.doctor_id = d.doctor_id);
SELECT specialty FROM doctors d WHERE NOT EXISTS (SELECT 1 FROM visits v WHERE v.doctor_id = d.doctor_id AND v.cost > 995);
SELECT doctor_id FROM doctors WHERE doctor_id NOT IN (SELECT doctor_id FROM visits);
SELECT doctor_id FROM doctors WHERE doctor_id NOT IN (SELECT doctor_id FROM visits WHERE cost > 995 AND doctor_id IS NOT NULL);
SELECT specialty, doctor_id IN (SELECT doctor_id FROM visits WHERE cost > 995) AS dear FROM doctors;
SELECT specialty, region_id IN (SELECT doctor_id FROM visits WHERE cost > 995) AS dear FROM doctors;
SELECT specialty, count(*) AS n FROM doctors WHERE doctor_id IN (SELECT doctor_id FROM visits WHERE ward = 'ER') GROUP BY specialty;
SELECT region_name FROM regions r WHERE EXISTS (SELECT 1 FROM doctors d JOIN visits v USING (doctor_id) WHERE d.region_id = r.region_id);
SELECT region_name FROM regions WHERE region_id IN (SELECT d.region_id FROM doctors d JOIN visits v USING (doctor_id));
SELECT count(*) AS n FROM visits v WHERE EXISTS (SELECT 1 FROM visits w WHERE w.doctor_id = v.doctor_id AND w.cost > 990);
SELECT count(*) AS n FROM visits v WHERE v.doctor_id NOT IN (SELECT doctor_id FROM visits w WHERE w.cost > 990 AND doctor_id IS NOT NULL);

-- == clinic: scalar subqueries

SELECT count(*) FROM visits WHERE cost > (SELECT avg(cost) FROM visits);
SELECT count(*) - (SELECT count(*) FROM tests) AS gap FROM visits;
SELECT ward, count(*) * 1.0 / (SELECT count(*) FROM visits) AS share FROM visits GROUP BY ward;
SELECT count(*) FROM patients p WHERE age > (SELECT count(*) FROM visits v WHERE v.patient_id = p.patient_id);
SELECT count(*) FROM patients p WHERE (SELECT count(*) FROM visits v WHERE v.patient_id = p.patient_id) = 0;
SELECT sum(cost) AS s FROM visits v WHERE cost > (SELECT avg(cost) FROM visits w WHERE w.patient_id = v.patient_id);
SELECT (SELECT count(*) FROM patients) AS p, (SELECT count(*) FROM visits) AS v;
SELECT count(*) FROM visits WHERE doctor_id = (SELECT max(doctor_id) FROM doctors);
SELECT ward, count(*) AS n FROM visits GROUP BY ward HAVING count(*) > (SELECT count(*) / 5 FROM visits);
SELECT specialty, (SELECT count(*) FROM visits v WHERE v.doctor_id = d.doctor_id) AS n FROM doctors d ORDER BY doctor_id;
SELECT d.doctor_id, d.specialty FROM doctors d WHERE (SELECT count(*) FROM visits v WHERE v.doctor_id = d.doctor_id) > 10;
SELECT sum(cost) FROM visits v, doctors d WHERE v.doctor_id = d.doctor_id AND cost > (SELECT avg(cost) FROM visits w WHERE w.doctor_id = d.doctor_id);

-- == clinic: set operations

SELECT count(*) FROM (SELECT patient_id FROM patients UNION ALL SELECT patient_id FROM visits) t;
SELECT count(*) FROM (SELECT patient_id FROM patients UNION SELECT patient_id FROM visits) t;
SELECT count(*) FROM (SELECT patient_id FROM visits WHERE ward = 'ER' INTERSECT SELECT patient_id FROM visits WHERE ward = 'ICU') t;
SELECT count(*) FROM (SELECT patient_id FROM patients EXCEPT SELECT patient_id FROM visits WHERE ward = 'ER') t;
SELECT ward FROM visits UNION SELECT 'none' ORDER BY 1;
SELECT ward, count(*) AS n FROM visits GROUP BY ward UNION ALL SELECT 'all', count(*) FROM visits ORDER BY 1, 2;
SELECT 'patients' AS what, count(*) AS n FROM patients UNION ALL SELECT 'visits', count(*) FROM visits UNION ALL SELECT 'tests', count(*) FROM tests;
SELECT specialty FROM doctors EXCEPT SELECT specialty FROM doctors WHERE region_id = 1;
SELECT doctor_id FROM doctors INTERSECT SELECT region_id FROM regions ORDER BY 1;
SELECT sum(x) AS s FROM (SELECT cost AS x, patient_id FROM visits UNION ALL SELECT age, patient_id FROM patients) t;
SELECT kind, count(*) AS n FROM (SELECT 'visit' AS kind, patient_id FROM visits UNION ALL SELECT 'person', patient_id FROM patients) t GROUP BY kind;
SELECT ward FROM visits WHERE ward <> 'GP' INTERSECT SELECT ward FROM visits WHERE cost > 10;
(SELECT sex, count(*) AS n FROM patients GROUP BY sex) UNION (SELECT 'X', 0) ORDER BY sex;

-- == clinic: distinct

SELECT DISTINCT ward FROM visits;
SELECT DISTINCT sex, insured FROM patients;
SELECT DISTINCT city FROM patients ORDER BY city DESC;
SELECT count(*) FROM (SELECT DISTINCT patient_id, ward FROM visits) t;
SELECT DISTINCT n > 20 AS many FROM (SELECT ward, count(*) AS n FROM visits GROUP BY ward) t;
SELECT DISTINCT specialty FROM doctors;
SELECT count(DISTINCT specialty) AS n FROM doctors;
SELECT DISTINCT doctor_id FROM visits ORDER BY 1 LIMIT 2;

-- == clinic: windows

SELECT ward, n, sum(n) OVER () AS total FROM (SELECT ward, count(*) AS n FROM visits GROUP BY ward) t;
SELECT ward, count(*) AS n, count(*) * 1.0 / sum(count(*)) OVER () AS share FROM visits GROUP BY ward;
SELECT ward, n, row_number() OVER (ORDER BY n DESC, ward) AS place, ntile(2) OVER (ORDER BY n, ward) AS half FROM (SELECT ward, count(*) AS n FROM visits GROUP BY ward) t;
SELECT m, n, sum(n) OVER (ORDER BY m) AS running, avg(n) OVER (ORDER BY m ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS smooth FROM (SELECT month(visit_date) AS m, count(*) AS n FROM visits WHERE visit_date IS NOT NULL GROUP BY 1) t;
SELECT m, n, n - lag(n) OVER (ORDER BY m) AS change, lead(n, 2) OVER (ORDER BY m) AS later FROM (SELECT month(visit_date) AS m, count(*) AS n FROM visits WHERE visit_date IS NOT NULL GROUP BY 1) t;
SELECT ward, kind, n, rank() OVER (PARTITION BY ward ORDER BY n DESC) AS r, dense_rank() OVER (PARTITION BY ward ORDER BY n) AS d FROM (SELECT ward, kind, count(*) AS n FROM visits JOIN tests USING (visit_id) GROUP BY ward, kind) t;
SELECT ward, first_value(ward) OVER (ORDER BY n DESC, ward) AS top, last_value(n) OVER (ORDER BY n, ward ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS most FROM (SELECT ward, count(*) AS n FROM visits GROUP BY ward) t;
SELECT ward, percent_rank() OVER (ORDER BY n) AS p, cume_dist() OVER (ORDER BY n) AS c FROM (SELECT ward, count(*) AS n FROM visits GROUP BY ward) t;
SELECT count(*) FROM (SELECT row_number() OVER (PARTITION BY patient_id ORDER BY visit_id) AS place FROM visits) t WHERE place = 2;
SELECT ward, count(*) AS n FROM (SELECT ward, row_number() OVER (PARTITION BY patient_id ORDER BY visit_date, visit_id) AS place FROM visits) t WHERE place = 1 GROUP BY ward;
SELECT ward, count(*) AS n FROM (SELECT ward, rank() OVER (PARTITION BY patient_id ORDER BY doctor_id IS NULL) AS place FROM visits) t WHERE place = 1 GROUP BY ward;
SELECT count(*) AS n FROM (SELECT row_number() OVER (PARTITION BY patient_id, ward ORDER BY visit_id) AS place FROM visits) t WHERE place = 1;
SELECT count(*) AS n FROM (SELECT place FROM (SELECT visit_id, row_number() OVER (PARTITION BY patient_id ORDER BY visit_id) AS place FROM visits) t JOIN tests USING (visit_id)) u WHERE place = 1;
SELECT sum(gap) AS s FROM (SELECT cost - lag(cost) OVER (PARTITION BY patient_id ORDER BY visit_id) AS gap FROM visits) t WHERE gap BETWEEN 0 AND 1000;
SELECT count(*) FROM (SELECT cost, sum(cost) OVER (PARTITION BY patient_id) AS total FROM visits) t WHERE cost > total / 2;
SELECT sum(cost) AS s FROM (SELECT cost, count(*) OVER (PARTITION BY patient_id) AS n FROM visits) t WHERE n = 2;
SELECT place, count(*) AS n, sum(cost) AS s FROM (SELECT cost, rank() OVER (PARTITION BY patient_id ORDER BY ward) AS place FROM visits) t WHERE place <= 3 GROUP BY place;
SELECT place, count(*) AS n, sum(cost) AS s FROM (SELECT cost, dense_rank() OVER (PARTITION BY patient_id ORDER BY ward) AS place FROM visits) t WHERE place <= 3 GROUP BY place;
SELECT count(*) AS n FROM (SELECT sum(cost) OVER (PARTITION BY patient_id ORDER BY ward) AS running FROM visits) t WHERE running > 500;
SELECT sum(m) AS s FROM (SELECT max(cost) OVER (PARTITION BY patient_id ORDER BY visit_id) AS m FROM visits) t;
SELECT count(*) AS n FROM (SELECT avg(cost) OVER (PARTITION BY patient_id ORDER BY visit_id ROWS 1 PRECEDING) AS m FROM visits) t WHERE m > 400;
SELECT d, n, sum(n) OVER (ORDER BY d RANGE BETWEEN INTERVAL 6 DAYS PRECEDING AND CURRENT ROW) AS week FROM (SELECT visit_date AS d, count(*) AS n FROM visits WHERE visit_date IS NOT NULL GROUP BY 1) t;
SELECT d, avg(n) OVER (ORDER BY d RANGE BETWEEN INTERVAL '1 month' PRECEDING AND INTERVAL 1 DAY FOLLOWING) AS smooth, count(*) OVER (ORDER BY d DESC RANGE INTERVAL 7 DAY PRECEDING) AS days FROM (SELECT visit_date AS d, count(*) AS n FROM visits WHERE visit_date IS NOT NULL GROUP BY 1) t;
SELECT CAST(d AS TIMESTAMP) AS at, max(n) OVER (ORDER BY CAST(d AS TIMESTAMP) RANGE BETWEEN INTERVAL 36 HOUR PRECEDING AND INTERVAL 12 HOUR PRECEDING) AS most FROM (SELECT visit_date AS d, count(*) AS n FROM visits WHERE visit_date IS NOT NULL GROUP BY 1) t;
SELECT m, sum(n) OVER (ORDER BY m RANGE BETWEEN 2 PRECEDING AND CURRENT ROW) AS quarter, first_value(n) OVER (ORDER BY m RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS f FROM (SELECT month(visit_date) AS m, count(*) AS n FROM visits WHERE visit_date IS NOT NULL GROUP BY 1) t;
SELECT m, n, count(*) OVER (ORDER BY n RANGE BETWEEN 2 PRECEDING AND 2 FOLLOWING) AS near, sum(m) OVER (ORDER BY n * 1.5 RANGE BETWEEN 1.5 PRECEDING AND UNBOUNDED FOLLOWING) AS s FROM (SELECT month(visit_date) AS m, count(*) AS n FROM visits WHERE visit_date IS NOT NULL GROUP BY 1) t;
SELECT m, n, sum(n) OVER (ORDER BY n GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS g, sum(n) OVER (ORDER BY m // 3 GROUPS 1 PRECEDING) AS h FROM (SELECT month(visit_date) AS m, count(*) AS n FROM visits WHERE visit_date IS NOT NULL GROUP BY 1) t;
SELECT m, n, sum(n) OVER (ORDER BY m // 3 RANGE CURRENT ROW) AS same, sum(n) OVER (ORDER BY m RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS rest, sum(n) OVER (ORDER BY m RANGE UNBOUNDED PRECEDING) AS so_far FROM (SELECT month(visit_date) AS m, count(*) AS n FROM visits WHERE visit_date IS NOT NULL GROUP BY 1) t;
SELECT ward, m, sum(n) OVER (PARTITION BY ward ORDER BY m RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS s FROM (SELECT ward, month(visit_date) AS m, count(*) AS n FROM visits WHERE visit_date IS NOT NULL GROUP BY 1, 2) t;
SELECT m, nth_value(n, 2) OVER (ORDER BY m) AS second, lag(x IGNORE NULLS) OVER (ORDER BY m) AS before, last_value(x IGNORE NULLS) OVER (ORDER BY m) AS last, first_value(x) OVER (ORDER BY m) AS first FROM (SELECT m, n, CASE WHEN m % 3 = 0 THEN n END AS x FROM (SELECT month(visit_date) AS m, count(*) AS n FROM visits WHERE visit_date IS NOT NULL GROUP BY 1) t) u;
SELECT count(*) AS n FROM (SELECT sum(cost) OVER (PARTITION BY patient_id ORDER BY ward GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW) AS s FROM visits) t WHERE s > 500;
SELECT count(*) AS n, sum(c) AS s FROM (SELECT count(*) OVER (PARTITION BY patient_id ORDER BY visit_id RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS c FROM visits) t WHERE c BETWEEN 1 AND 3;
SELECT count(*) AS n FROM (SELECT sum(cost) OVER (PARTITION BY patient_id ORDER BY datediff('day', DATE '2024-01-01', visit_date) RANGE BETWEEN 90 PRECEDING AND CURRENT ROW) AS s FROM visits) t WHERE s > 800;
SELECT count(*) AS n FROM (SELECT min(cost) OVER (PARTITION BY patient_id ORDER BY ward RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS s FROM visits) t WHERE s > 300;
SELECT count(*) AS n FROM (SELECT lag(cost IGNORE NULLS) OVER (PARTITION BY patient_id ORDER BY visit_id) AS s FROM visits) t WHERE s > 300;
SELECT ward, n, rank() OVER w AS place, sum(n) OVER (w ROWS 1 PRECEDING) AS two FROM (SELECT ward, count(*) AS n FROM visits GROUP BY ward) t WINDOW w AS (ORDER BY n DESC);
SELECT ward, kind, sum(n) FILTER (WHERE kind <> 'blood') OVER ward AS others, count(*) FILTER (WHERE n > 3) OVER ward AS large, count(DISTINCT n > 3) OVER ward AS sorts FROM (SELECT ward, kind, count(*) AS n FROM visits JOIN tests USING (visit_id) GROUP BY ward, kind) t WINDOW ward AS (PARTITION BY ward);
SELECT count(*) AS n FROM (SELECT count(*) FILTER (WHERE cost > 100) OVER own AS dear, count(DISTINCT ward) OVER own AS wards, sum(cost) FILTER (WHERE ward = 'ER') OVER timed AS er FROM visits WINDOW own AS (PARTITION BY patient_id), timed AS (own ORDER BY visit_date, visit_id)) t WHERE dear >= 1 AND wards < 3 AND er > 10;
SELECT sum(wards) AS wards, sum(dear) AS dear FROM (SELECT count(DISTINCT ward) OVER (PARTITION BY patient_id) AS wards, max(cost) FILTER (WHERE ward = 'ICU') OVER (PARTITION BY patient_id ORDER BY visit_date) AS dear FROM visits) t;

-- == clinic: grouping sets

SELECT sex, count(*) AS n FROM patients GROUP BY ROLLUP (sex);
SELECT ward, kind, count(*) AS n FROM visits JOIN tests USING (visit_id) GROUP BY CUBE (ward, kind);
SELECT sex, insured, count(*) AS n, avg(age) AS a FROM patients GROUP BY GROUPING SETS ((sex), (insured));
SELECT sex, insured, count(*) AS n FROM patients GROUP BY GROUPING SETS ((sex, insured), ());
SELECT ward, sum(cost) AS s FROM visits GROUP BY ROLLUP (ward) HAVING count(*) > 5;
SELECT specialty, ward, count(*) AS n FROM visits JOIN doctors USING (doctor_id) GROUP BY ROLLUP (specialty, ward);
SELECT sex, insured, count(*) AS n FROM patients GROUP BY sex, ROLLUP (insured);
SELECT sex, insured, GROUPING(sex, insured) AS g, GROUPING_ID(insured) AS h, count(*) AS n FROM patients GROUP BY CUBE (sex, insured) ORDER BY g, sex, insured;
SELECT ward, count(*) AS n, CASE WHEN GROUPING(ward) = 1 THEN 'all' ELSE 'ward' END AS level FROM visits GROUP BY ROLLUP (ward);
SELECT sex, grouping(sex) AS g, count(*) AS n FROM patients GROUP BY sex;

SELECT * FROM (SELECT sex, insured FROM patients) PIVOT (count(*) FOR insured IN (true, false));
SELECT * FROM (SELECT ward, sex, insured FROM visits JOIN patients USING (patient_id)) PIVOT (count(*) AS n FOR insured IN (true AS covered, false) sex IN ('F'));

-- == clinic: public tables

SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY doctor_id DESC) AS half, percentile_disc(0) WITHIN GROUP (ORDER BY doctor_id DESC) AS top FROM doctors;
SELECT * FROM doctors;
SELECT specialty, count(*) AS n FROM doctors GROUP BY specialty ORDER BY specialty;
SELECT d.specialty, r.region_name FROM doctors d LEFT JOIN regions r USING (region_id);
SELECT max(doctor_id) AS m, min(specialty) AS s, sum(region_id) AS r FROM doctors;
SELECT doctor_id FROM doctors WHERE region_id = (SELECT max(region_id) FROM regions) ORDER BY doctor_id;
SELECT a.doctor_id, b.doctor_id AS other FROM doctors a JOIN doctors b ON a.specialty = b.specialty AND a.doctor_id < b.doctor_id;
SELECT region_name FROM regions r WHERE NOT EXISTS (SELECT 1 FROM doctors d WHERE d.region_id = r.region_id AND specialty = 'eye') ORDER BY 1;

-- == clinic: probes

SELECT * FROM visits LIMIT 0;
SELECT patient_id, cost * 2 AS twice FROM visits WHERE FALSE;
SELECT ward, sum(cost) AS s FROM visits WHERE 1 = 0 GROUP BY ward;
SELECT * FROM (SELECT * FROM patients) t WHERE 0 = 1;

-- == clinic: comments and spelling

SELECT /* how many */ count(*) -- all of them
FROM patients;
select COUNT ( * ) AS "N" from "patients" where "AGE" > 1e1;
SELECT public.visits.ward, count(*) FROM public.visits GROUP BY public.visits.ward;
SELECT "ward" AS "weird ""name""", count(*) AS "日本" FROM visits GROUP BY "ward";

-- == clinic: stars, limits and patterns

SELECT * EXCLUDE (n) FROM (SELECT ward, count(*) AS n, sum(cost) AS s FROM visits GROUP BY ward);
SELECT * REPLACE (n * 2 AS n) FROM (SELECT ward, count(*) AS n FROM visits GROUP BY ward) t;
SELECT t.* EXCLUDE (n) RENAME (ward AS place) FROM (SELECT ward, count(*) AS n FROM visits GROUP BY ward) t;
SELECT * EXCLUDE (region_id) FROM doctors ORDER BY ALL;
SELECT sex, avg(age) AS a FROM (SELECT * EXCLUDE (city, weight) FROM patients) GROUP BY sex;
SELECT d.* EXCLUDE (doctor_id), n FROM doctors d JOIN (SELECT doctor_id, count(*) AS n FROM visits GROUP BY doctor_id) v USING (doctor_id);
SELECT ward, count(*) AS n FROM visits GROUP BY ward ORDER BY ALL;
SELECT ward, count(*) AS n FROM visits GROUP BY ward UNION ALL SELECT 'all', count(*) FROM visits ORDER BY ALL DESC;
SELECT DISTINCT ward FROM visits WHERE ward IS NOT NULL ORDER BY ALL;
SELECT ward, count(*) AS n FROM visits GROUP BY ward ORDER BY n DESC, ward FETCH FIRST 2 ROWS ONLY;
SELECT ward, count(*) AS n FROM visits GROUP BY ward ORDER BY ward OFFSET 1 ROWS FETCH NEXT ROW ONLY;
SELECT ward, count(*) AS n FROM visits GROUP BY ward ORDER BY ward LIMIT ALL OFFSET 1;
SELECT ward, count(*) AS n FROM visits GROUP BY ward ORDER BY ward LIMIT NULL;
SELECT ward, count(*) AS n FROM visits GROUP BY ward ORDER BY ward LIMIT 1 + 1;
SELECT count(*) FROM patients WHERE city LIKE 'R!%' ESCAPE '!' OR city LIKE 'R%' ESCAPE '!';
SELECT count(*) FROM patients WHERE city NOT LIKE '%\_%' ESCAPE '\' AND city NOT ILIKE 'o%' ESCAPE '#';

-- == clinic: tables that the statement lists

SELECT x, y * 2 AS twice FROM (VALUES (1, 2.5), (2, NULL)) t(x, y) ORDER BY x;
SELECT * FROM (VALUES (1, 'a'), (2, 'b')) ORDER BY ALL;
SELECT * FROM generate_series(1, 10, 3);
SELECT * FROM range(5, 1, -2) t(n) ORDER BY n;
SELECT g FROM generate_series(1, 3) g ORDER BY g;
SELECT * FROM range(3, 3) t(n);
SELECT * FROM generate_series(TIMESTAMP '2024-01-31', TIMESTAMP '2024-06-30', INTERVAL 1 MONTH) t(m) ORDER BY m;
SELECT * FROM range(TIMESTAMP '2024-01-05', TIMESTAMP '2024-01-04', INTERVAL '-6 hours') t(m) ORDER BY m;
-- mark: names
SELECT unnest(range(3)) ORDER BY 1;
SELECT unnest(generate_series(DATE '2024-01-30', DATE '2024-02-02', INTERVAL 1 DAY))::date AS d ORDER BY d;
SELECT x FROM unnest(['b', 'a', 'b']) t(x) ORDER BY x;
WITH t(a, b) AS (VALUES (1, DATE '2024-01-01'), (2, DATE '2024-02-01')) SELECT a, b + 1 AS next FROM t ORDER BY a;
SELECT band.name, count(*) AS n FROM patients JOIN (VALUES ('child', 0, 17), ('adult', 18, 64), ('senior', 65, 120)) band(name, low, high) ON age BETWEEN low AND high GROUP BY band.name;
SELECT t.name, avg(age) AS a FROM patients JOIN (VALUES ('F', 'women'), ('M', 'men')) t(sex, name) ON patients.sex = t.sex GROUP BY t.name;
SELECT count(*) AS n FROM patients JOIN (VALUES ('F', 1), ('F', 2), ('M', 3)) t(sex, x) ON patients.sex = t.sex;
-- mark: keeps
SELECT x, count(visit_id) AS n FROM unnest(['ER', 'GP']) t(x) LEFT JOIN visits ON ward = x GROUP BY 1;
SELECT count(*) AS n FROM visits WHERE ward IN (SELECT w FROM (VALUES ('ER'), ('GP')) t(w));
-- mark: keeps
WITH days AS (SELECT unnest(generate_series(DATE '2024-03-01', DATE '2024-03-07', INTERVAL 1 DAY))::date AS day) SELECT days.day, count(visit_id) AS visits, coalesce(sum(cost), 0) AS cost FROM days LEFT JOIN visits ON visit_date = day GROUP BY days.day ORDER BY days.day;
-- mark: keeps
SELECT month(m) AS month, count(visit_id) AS n FROM generate_series(DATE '2024-01-01', DATE '2024-12-01', INTERVAL 1 MONTH) t(m) LEFT JOIN visits ON date_trunc('month', visit_date) = m GROUP BY m ORDER BY m;
SELECT w, coalesce(n, 0) AS n FROM (VALUES ('ER'), ('surgery')) t(w) LEFT JOIN (SELECT ward, count(*) AS n FROM visits GROUP BY ward) v ON v.ward = t.w ORDER BY w;
SELECT decade, count(*) AS n FROM range(0, 120, 10) t(decade) JOIN patients ON age // 10 * 10 = decade GROUP BY decade;

-- == clinic: joins that ask, natural joins, subqueries in aggregates

SELECT sex, count(*) AS n FROM patients p SEMI JOIN visits v ON v.patient_id = p.patient_id AND v.cost > 100 GROUP BY sex;
SELECT count(*) AS n FROM patients p ANTI JOIN visits v USING (patient_id);
SELECT ward, count(*) AS n FROM patients p JOIN visits v USING (patient_id) ANTI JOIN tests t USING (visit_id) WHERE age > 17 GROUP BY ward;
SELECT count(*) AS n FROM visits SEMI JOIN doctors d ON d.doctor_id = visits.doctor_id AND specialty = 'eye';
SELECT * FROM doctors ANTI JOIN regions USING (region_id) ORDER BY ALL;
SELECT kind, count(*) AS n, avg(age) AS a FROM patients NATURAL JOIN visits NATURAL JOIN tests GROUP BY kind;
SELECT * FROM doctors NATURAL JOIN regions ORDER BY doctor_id;
SELECT region_name, count(*) AS n FROM visits NATURAL JOIN doctors NATURAL JOIN regions GROUP BY region_name;
SELECT sex, avg((SELECT count(*) FROM visits v WHERE v.patient_id = p.patient_id)) AS visits FROM patients p GROUP BY sex;
SELECT sex, sum((SELECT sum(cost) FROM visits v WHERE v.patient_id = p.patient_id)) AS cost FROM patients p GROUP BY sex;
SELECT sex, count(*) FILTER (WHERE EXISTS (SELECT 1 FROM visits v WHERE v.patient_id = p.patient_id AND ward = 'ER')) AS emergencies, sum(CASE WHEN p.patient_id NOT IN (SELECT patient_id FROM visits) THEN 1 ELSE 0 END) AS absent FROM patients p GROUP BY sex;
SELECT sex, sum((SELECT 1 + count(*) FROM visits v WHERE v.patient_id = p.patient_id)) AS s, sum((SELECT coalesce(sum(cost), 7) FROM visits v WHERE v.patient_id = p.patient_id AND ward = 'ER')) AS c FROM patients p GROUP BY sex;
SELECT count(*) AS n FROM patients p WHERE (SELECT count(*) = 0 FROM visits v WHERE v.patient_id = p.patient_id);
SELECT specialty, sum((SELECT count(*) FROM visits v WHERE v.doctor_id = d.doctor_id)) AS visits FROM doctors d GROUP BY specialty;
SELECT count(*) FILTER (WHERE cost > (SELECT avg(cost) FROM visits)) AS dear, count(*) AS n FROM visits;

-- == clinic: keys that are listed doubles

SELECT floor(weight / 25) * 25 AS kilos, count(*) AS n FROM patients GROUP BY kilos;
-- mark: nothing
SELECT floor(cost / 250) * 250 AS dear, sum(cost) AS s FROM visits GROUP BY dear;
SELECT floor(age / 10) * 10 AS decade, ward, count(*) AS n FROM patients JOIN visits USING (patient_id) GROUP BY ALL;
SELECT round(weight / 50) AS fifties, count(*) AS n FROM patients WHERE weight < 200 GROUP BY 1 HAVING count(*) > 0;
SELECT CAST(floor(cost / 0.5) * 0.5 AS DECIMAL(10, 1)) AS halves, count(*) AS n FROM visits WHERE cost < 20 GROUP BY 1;
SELECT -floor(weight / 100) AS minus, count(*) AS n FROM patients GROUP BY ROLLUP (minus);

-- == clinic: any and all

SELECT sex, count(*) AS n FROM patients WHERE patient_id = ANY (SELECT patient_id FROM visits WHERE ward = ANY (ARRAY['ER', 'ICU'])) GROUP BY sex;
SELECT count(*) AS n FROM patients WHERE patient_id <> ALL (SELECT patient_id FROM visits WHERE cost > 900);

-- == clinic: aggregates of what is released

SELECT percentile_disc(0.25) WITHIN GROUP (ORDER BY n DESC) AS high FROM (SELECT ward, count(*) AS n FROM visits GROUP BY ward) t;
-- mark: keeps
SELECT d.specialty, count(v.visit_id) AS visits FROM doctors d LEFT JOIN visits v ON v.doctor_id = d.doctor_id GROUP BY d.specialty HAVING (COUNT(1) > 0);
SELECT ward, sex, count(*) AS n FROM visits JOIN patients USING (patient_id) GROUP BY ROLLUP (ward, sex) HAVING count(*) > 0;
SELECT bool_or(n > 10) AS a, bool_and(n > 0) AS b, string_agg(ward, ', ' ORDER BY n DESC, ward) AS c, first(ward ORDER BY n DESC, ward) AS d, last(n ORDER BY ward) AS e FROM (SELECT ward, count(*) AS n FROM visits WHERE ward IS NOT NULL GROUP BY ward) t;
SELECT region_id, string_agg(DISTINCT specialty, '/' ORDER BY specialty) AS a, product(doctor_id) AS b, mad(doctor_id) AS c, entropy(specialty) AS d FROM doctors GROUP BY region_id;
SELECT kurtosis(n) AS k, skewness(n) AS s, any_value(1) AS one FROM (SELECT city, count(*) AS n FROM patients GROUP BY city) t;
SELECT string_agg(specialty) FILTER (WHERE specialty = 'eye') AS eyes, any_value(specialty ORDER BY doctor_id DESC) AS last FROM doctors;
SELECT urgent, dear, count(*) AS n FROM (SELECT patient_id, bool_or(ward = 'ER') AS urgent, bool_and(cost > 5) AS dear FROM visits GROUP BY patient_id) t GROUP BY urgent, dear;
SELECT sex, count(*) FILTER (WHERE urgent) AS n FROM (SELECT patient_id, bool_or(ward = 'ER') AS urgent FROM visits GROUP BY patient_id) t JOIN patients USING (patient_id) GROUP BY sex;

-- == tpch: keys and joins

SELECT c_mktsegment, count(*) AS n, sum(c_acctbal) AS s, avg(c_acctbal) AS a FROM customer GROUP BY c_mktsegment;
SELECT n_name, count(*) AS n FROM customer JOIN nation ON c_nationkey = n_nationkey GROUP BY n_name ORDER BY n_name;
SELECT r_name, n_name, count(*) AS n FROM customer, nation, region WHERE c_nationkey = n_nationkey AND n_regionkey = r_regionkey GROUP BY r_name, n_name;
SELECT o_orderstatus, o_orderpriority, count(*) AS n, sum(o_totalprice) AS s FROM orders GROUP BY 1, 2;
SELECT year(o_orderdate) AS y, count(*) AS n FROM orders GROUP BY y ORDER BY y;
SELECT date_trunc('month', o_orderdate) AS m, sum(o_totalprice) AS s FROM orders WHERE o_orderdate >= DATE '1995-01-01' AND o_orderdate < DATE '1996-01-01' GROUP BY m;
SELECT c_mktsegment, o_orderpriority, count(*) AS n FROM customer JOIN orders ON c_custkey = o_custkey GROUP BY ALL;
SELECT l_shipmode, avg(l_quantity) AS q, sum(l_extendedprice * (1 - l_discount)) AS r FROM lineitem GROUP BY l_shipmode;
SELECT l_returnflag, count(*) FILTER (WHERE l_receiptdate > l_commitdate) AS late, count(*) AS n FROM lineitem GROUP BY l_returnflag;
SELECT p_brand, sum(l_quantity) AS q FROM lineitem JOIN part ON l_partkey = p_partkey GROUP BY p_brand;
SELECT s_name, sum(l_quantity) AS q FROM lineitem JOIN supplier ON l_suppkey = s_suppkey GROUP BY s_name ORDER BY q DESC, s_name LIMIT 5;
SELECT n_name, l_shipmode, count(*) AS n FROM lineitem, supplier, nation WHERE l_suppkey = s_suppkey AND s_nationkey = n_nationkey AND n_name IN ('FRANCE', 'GERMANY') GROUP BY n_name, l_shipmode;
SELECT c_mktsegment, sum(l_extendedprice) AS s FROM customer, orders, lineitem WHERE c_custkey = o_custkey AND o_orderkey = l_orderkey AND l_shipdate < DATE '1994-01-01' GROUP BY c_mktsegment;
SELECT l_linenumber, count(*) AS n FROM lineitem GROUP BY l_linenumber ORDER BY 1;
SELECT l_quantity < 25 AS small, avg(l_extendedprice) AS a FROM lineitem GROUP BY small;
SELECT o_clerk, count(*) AS n FROM orders GROUP BY o_clerk;

-- == tpch: subqueries and nesting

SELECT count(*) FROM orders WHERE o_orderkey IN (SELECT l_orderkey FROM lineitem GROUP BY l_orderkey HAVING sum(l_quantity) > 250);
SELECT count(*) FROM customer WHERE NOT EXISTS (SELECT * FROM orders WHERE o_custkey = c_custkey);
SELECT n, count(*) AS customers FROM (SELECT o_custkey, count(*) AS n FROM orders GROUP BY o_custkey) t GROUP BY n ORDER BY n;
SELECT avg(total) AS mean FROM (SELECT o_custkey, sum(o_totalprice) AS total FROM orders GROUP BY o_custkey) t;
SELECT avg(lines) AS mean FROM (SELECT l_orderkey, count(*) AS lines FROM lineitem GROUP BY l_orderkey) t;
SELECT count(*) FROM lineitem WHERE l_quantity > (SELECT avg(l_quantity) FROM lineitem);
SELECT count(*) FROM lineitem l, part p WHERE l.l_partkey = p.p_partkey AND p.p_size = 15 AND l_quantity < (SELECT avg(l_quantity) FROM lineitem x WHERE x.l_partkey = p.p_partkey);
SELECT o_orderpriority, count(*) AS n FROM orders o WHERE EXISTS (SELECT 1 FROM lineitem l WHERE l.l_orderkey = o.o_orderkey AND l.l_returnflag = 'R') GROUP BY o_orderpriority;
SELECT segment, avg(n) AS a FROM (SELECT c_custkey, c_mktsegment AS segment, count(o_orderkey) AS n FROM customer LEFT JOIN orders ON c_custkey = o_custkey GROUP BY c_custkey, c_mktsegment) t GROUP BY segment;
WITH r AS (SELECT year(l_shipdate) AS y, sum(l_extendedprice) AS s FROM lineitem GROUP BY 1) SELECT a.y, a.s / b.s AS growth FROM r a JOIN r b ON a.y = b.y + 1 ORDER BY a.y;
SELECT l_shipmode, s, rank() OVER (ORDER BY s DESC) AS place FROM (SELECT l_shipmode, sum(l_quantity) AS s FROM lineitem GROUP BY l_shipmode) t;
SELECT count(*) FROM (SELECT o_custkey FROM orders WHERE o_orderstatus = 'F' INTERSECT SELECT o_custkey FROM orders WHERE o_orderstatus = 'O') t;
SELECT l_returnflag, l_linestatus, sum(l_quantity) AS q FROM lineitem GROUP BY ROLLUP (l_returnflag, l_linestatus);
SELECT count(*) FROM (SELECT row_number() OVER (PARTITION BY o_custkey ORDER BY o_orderdate, o_orderkey) AS place, o_totalprice FROM orders) t WHERE place = 1 AND o_totalprice > 100000;
SELECT count(DISTINCT o_custkey) AS buyers, count(*) AS orders FROM orders WHERE year(o_orderdate) = 1995;
SELECT s_name, n FROM supplier JOIN (SELECT l_suppkey, count(*) AS n FROM lineitem GROUP BY l_suppkey) t ON s_suppkey = l_suppkey WHERE s_nationkey = 3 ORDER BY s_name;

-- == bi: dashboards

SELECT status, count(*) AS n, sum(amount) AS s, avg(score) AS a FROM orders GROUP BY status ORDER BY s DESC NULLS LAST;
SELECT date_trunc('day', ts) AS d, count(*) AS n FROM orders GROUP BY d;
SELECT date_trunc('hour', ts) AS h, count(*) AS n FROM orders WHERE ts >= TIMESTAMP '2024-03-01' AND ts < TIMESTAMP '2024-03-08' GROUP BY h ORDER BY h;
SELECT region, status, sum(amount) AS s FROM orders JOIN customers ON customers.id = orders.customer_id GROUP BY region, status;
SELECT extract(year FROM ts) AS y, extract(month FROM ts) AS m, count(*) AS n FROM orders GROUP BY ALL;
SELECT category, count(*) AS n FROM order_items JOIN products USING (product_id) GROUP BY category;
SELECT category, count(*) AS n FROM order_items LEFT JOIN products USING (product_id) GROUP BY category;
SELECT SUM(1) AS "cnt" FROM Extract WHERE (CASE WHEN sex = 0 THEN FALSE ELSE TRUE END) HAVING (COUNT(1) > 0);
SELECT '1'::double precision AS x, SUM(1) AS s FROM Extract HAVING (COUNT(1) > 0);
SELECT "Extract"."city" AS "city" FROM "Extract" GROUP BY 1 ORDER BY "city" ASC NULLS FIRST;
SELECT (CASE WHEN ("Extract"."country" IN ('DE', 'Germany')) THEN 'Germany' WHEN ("Extract"."country" IN ('RU', 'Russia')) THEN 'Russia' ELSE "Extract"."country" END) AS "Country (group)", SUM(1) AS a, SUM(1) AS b FROM "Extract" GROUP BY 1;
SELECT "t3"."c" AS "c", SUM(1) AS "n" FROM (SELECT (CASE WHEN ("t2"."x" <= 17) THEN '<18' WHEN (("t2"."x" >= 18) AND ("t2"."x" <= 24)) THEN '18-24' ELSE '' END) AS "c" FROM (SELECT (CASE WHEN (LENGTH("t1"."bdate") >= 8) THEN 1 ELSE null::int END) AS "x" FROM (SELECT "Extract"."bdate" AS "bdate" FROM "Extract") "t1") "t2") "t3" WHERE ("t3"."c" <> '') GROUP BY 1;
SELECT (NOT (t0.flag IS NULL)) AS once, (NOT (t1.flag IS NULL)) AS twice, COUNT(DISTINCT h.screen_name) AS people FROM HashTags_1 h LEFT JOIN (SELECT screen_name, MIN(1) AS flag FROM HashTags_1 GROUP BY screen_name HAVING (SUM(1) = 1)) t0 ON h.screen_name = t0.screen_name LEFT JOIN (SELECT screen_name, MIN(1) AS flag FROM HashTags_1 GROUP BY screen_name HAVING (SUM(1) = 2)) t1 ON h.screen_name = t1.screen_name GROUP BY once, twice;
SELECT time_bucket(INTERVAL '1 day', ts) AS b, count(*) AS n FROM orders WHERE ts >= TIMESTAMP '2024-01-01' AND ts < TIMESTAMP '2024-02-01' GROUP BY b;
SELECT paid, avg(amount) AS a, count(*) FILTER (WHERE qty > 50) AS big FROM orders GROUP BY paid;

-- == clinic: row values and quantifiers

SELECT count(*) FROM visits WHERE (doctor_id, ward) IN ((1, 'ER'), (2, NULL), NULL);
SELECT count(*) FROM visits WHERE (doctor_id, ward) NOT IN ((1, 'ER'), (2, NULL));
SELECT count(*) FROM visits WHERE NOT ((doctor_id, cost) < (3, NULL)) OR (NULL, cost) = (doctor_id, cost);
SELECT count(*) FILTER (WHERE ((doctor_id, ward) >= (2, 'GP')) IS NULL) AS unknown FROM visits;
SELECT count(*) FROM visits WHERE coalesce((doctor_id, ward) IN (SELECT doctor_id, specialty FROM doctors), TRUE);
SELECT count(*) FROM visits WHERE (doctor_id, ward) NOT IN (SELECT region_id, specialty FROM doctors);
SELECT count(*) FROM visits WHERE ((doctor_id, cost) = ALL (SELECT region_id, doctor_id FROM doctors)) IS NOT FALSE;
SELECT count(*) FROM visits v WHERE NOT (v.cost > ALL (SELECT w.cost FROM visits w WHERE w.patient_id = v.patient_id AND w.visit_id <> v.visit_id));
SELECT ward, count(*) FILTER (WHERE coalesce(cost <= ANY (SELECT w.cost FROM visits w WHERE w.patient_id = v.patient_id AND w.ward = v.ward), TRUE)) AS n FROM visits v GROUP BY ward;
SELECT count(*) FROM visits WHERE doctor_id < ANY (SELECT region_id FROM doctors WHERE doctor_id > 99) OR doctor_id > ALL (SELECT region_id FROM doctors WHERE doctor_id > 99);
SELECT count(*) FROM visits WHERE (doctor_id <> ANY (SELECT region_id FROM doctors)) IS NULL;
SELECT count(*) FROM visits WHERE doctor_id >= ALL ([1, 2, NULL]) IS NULL;
SELECT count(DISTINCT (ward, doctor_id)) AS pairs, count((ward, doctor_id)) AS n FROM visits;
SELECT count(*) FROM (SELECT patient_id, cost FROM visits EXCEPT ALL SELECT patient_id, weight FROM patients) t;
SELECT region_id FROM doctors EXCEPT ALL SELECT region_id FROM regions;

-- == clinic: aggregates of one's own unit

SELECT count(*) FROM visits v WHERE (SELECT count(*) FROM visits w WHERE w.patient_id = v.patient_id AND (w.cost < v.cost OR v.cost IS NULL)) > 1;
SELECT count(*) FROM visits v WHERE (SELECT max(w.cost) FROM visits w WHERE w.patient_id = v.patient_id AND NOT (w.ward IS DISTINCT FROM v.ward)) IS NULL;
SELECT count(*) FROM visits v WHERE coalesce((SELECT min(w.doctor_id) FROM visits w WHERE w.patient_id = v.patient_id AND (w.visit_date, w.visit_id) < (v.visit_date, v.visit_id)), 2) = 2;

-- == clinic: texts without a list

SELECT min(city) AS first, max(city) AS last FROM patients;
SELECT sex, count(*) AS n, min(city) AS first, max(upper(city)) AS last FROM patients GROUP BY sex ORDER BY min(city), sex;
SELECT ward, min(city) FILTER (WHERE age > 40) AS old, max(sex) AS sex FROM visits JOIN patients USING (patient_id) GROUP BY ward HAVING min(city) IS NOT NULL;
SELECT sex, insured, min(city) AS first FROM patients GROUP BY ROLLUP (sex, insured);
SELECT count(*) AS n FROM patients WHERE city > (SELECT min(city) FROM patients);
SELECT d.specialty, min(p.city) AS first FROM visits v JOIN doctors d USING (doctor_id) JOIN patients p USING (patient_id) GROUP BY d.specialty;
SELECT max(first) AS last FROM (SELECT patient_id, min(city) AS first FROM patients GROUP BY patient_id) t;
SELECT sex, avg(length(city)) AS mean, sum(strlen(trim(city))) AS bytes, max(length(left(city, 3))) AS most FROM patients GROUP BY sex;

-- == clinic: lateral

SELECT p.sex, count(t.cost) AS n, count(*) AS rows FROM patients p LEFT JOIN LATERAL (SELECT * FROM visits v WHERE v.patient_id = p.patient_id AND v.cost > p.age) t ON t.ward = 'ER' GROUP BY 1;
SELECT count(*) AS n FROM patients p, LATERAL (SELECT sum(cost) AS c, count(*) AS m FROM visits v WHERE v.patient_id = p.patient_id) t WHERE t.c > 10 OR m = 0;
SELECT p.sex, count(t.dear) AS n FROM patients p LEFT JOIN LATERAL (SELECT max(cost) AS dear FROM visits v WHERE v.patient_id = p.patient_id) t ON TRUE GROUP BY 1;
SELECT * FROM (SELECT ward, count(*) AS n FROM visits GROUP BY ward) w, LATERAL (SELECT count(*) AS m FROM tests t JOIN visits v USING (visit_id) WHERE v.ward = w.ward) x;
SELECT avg(t.n) AS mean FROM patients p, LATERAL (SELECT count(*) AS n FROM visits v WHERE v.patient_id = p.patient_id) t, LATERAL (SELECT count(*) AS m FROM visits v JOIN tests x USING (visit_id) WHERE v.patient_id = p.patient_id AND v.cost > t.n) u WHERE u.m > 0;
SELECT count(*) AS n FROM visits v CROSS JOIN LATERAL (SELECT d.region_id AS r FROM doctors d WHERE d.doctor_id = v.doctor_id) t(region) WHERE t.region = 1;
SELECT count(*) AS n FROM patients p, visits v, LATERAL (SELECT count(*) AS m FROM visits w WHERE w.patient_id = p.patient_id) t WHERE p.patient_id = v.patient_id AND t.m > 1;
SELECT count(*) AS n FROM patients p, LATERAL (SELECT count(*) AS m FROM visits v WHERE v.patient_id = p.patient_id HAVING count(*) > 1) t;

-- == clinic: what is NULL

SELECT ward, ward = 'ER' AS k, count(*) AS n FROM visits WHERE ward IS DISTINCT FROM 'ER' GROUP BY 1, 2;
SELECT ward IN ('GP', NULL) AS k, count(*) AS n FROM visits GROUP BY 1;
SELECT count(*) AS n FROM visits l FULL JOIN patients r ON l.patient_id = r.patient_id WHERE l.visit_id <> ALL (SELECT visit_id FROM tests WHERE score > 0);
SELECT count(DISTINCT l.patient_id) AS a, count(DISTINCT r.patient_id) AS b FROM visits l FULL JOIN patients r ON l.patient_id = r.patient_id;
SELECT count(*) AS n, sum(m) AS s FROM (SELECT patient_id, count(*) AS m FROM visits l FULL JOIN patients r USING (patient_id) GROUP BY 1) t;
SELECT sex, mode(city) AS most, count(*) AS n FROM patients GROUP BY sex;
